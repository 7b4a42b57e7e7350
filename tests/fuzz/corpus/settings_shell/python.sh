nohup python -u train.py args.json
